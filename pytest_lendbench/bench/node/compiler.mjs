// What the TypeScript compiler knows of a candidate's writable files: where their exports differ from the app's own, and
// the source signals. It only reads; nothing of the candidate runs.
//
//   node compiler.mjs TREE APP TOOLS OUT WRITABLE…
//
// TREE is the candidate's clean tree, APP the untouched app, TOOLS our own packages. Writes to OUT, as JSON:
// { exports: [[file, sentence]], signals: [{ rule, file, line, message }] }.
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const [tree, app, tools, out, ...writable] = process.argv.slice(2);
const { default: ts } = await import(pathToFileURL(join(tools, "typescript/lib/typescript.js")));

const modules = writable.filter((file) => /\.tsx?$/.test(file));
const inside = (folder, path) => {
  const at = relative(folder, path);
  return at.startsWith("..") || isAbsolute(at) ? null : at;
};

// One program has both: the candidate's modules and the app's own ones, which share all files that nobody may change.
// So a type of a shared file is one type for both.
const config = ts.readConfigFile(join(tree, "tsconfig.json"), ts.sys.readFile).config;
const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, tree);
const host = ts.createCompilerHost(options);

// What `next typegen` would write: the tree has no build, yet pages and routes may use these types.
const generated = join(tree, ".next/types/routes.d.ts");
const routes = `export {};
type Params<Route> = Route extends \`\${string}[id]\${string}\` ? { id: string } : {};
declare global {
  interface PageProps<Route> {
    params: Promise<Params<Route>>;
    searchParams: Promise<Record<string, string | string[] | undefined>>;
  }
  interface RouteContext<Route> { params: Promise<Params<Route>> }
}
`;
const parse = host.getSourceFile;
host.getSourceFile = (path, ...how) => {
  if (path === generated) return ts.createSourceFile(path, routes, ...how);
  try {
    return parse(path, ...how);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return ts.createSourceFile(path, "", ...how); // Nested too deep even for our stack.
  }
};
host.resolveModuleNameLiterals = (literals, containing) => {
  const ours = inside(app, containing);
  return literals.map(({ text }) => {
    const found = ts.resolveModuleName(text, ours === null ? containing : join(tree, ours), options, host);
    const file = ours !== null && found.resolvedModule && inside(tree, found.resolvedModule.resolvedFileName);
    if (file && modules.includes(file)) found.resolvedModule.resolvedFileName = join(app, file);
    return found;
  });
};
const existing = [tree, app].map((folder) => modules.map((file) => join(folder, file)).filter((path) => existsSync(path)));
const program = ts.createProgram([join(tree, "next-env.d.ts"), generated, ...existing.flat()], options, host);
const checker = program.getTypeChecker();
const WORDS = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
const worded = (type) => {
  const text = checker.typeToString(type, undefined, WORDS);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

// The exports that exist when the program runs: name → type.
const runtimeExports = (path) => {
  const source = program.getSourceFile(path);
  const module = source && checker.getSymbolAtLocation(source);
  const found = new Map();
  const stars = (source?.statements ?? []).filter((at) => ts.isExportDeclaration(at) && !at.exportClause);
  const onlyTypes = stars.every((at) => at.isTypeOnly);
  for (const symbol of module ? checker.getExportsOfModule(module) : []) {
    const typeOnly =
      Boolean(checker.getTypeOnlyAliasDeclaration(symbol)) ||
      (onlyTypes && symbol.declarations?.every((at) => at.getSourceFile() !== source));
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!typeOnly && target.flags & ts.SymbolFlags.Value)
      found.set(symbol.name, checker.getTypeOfSymbolAtLocation(symbol, source));
  }
  return found;
};

const ANY = ts.TypeFlags.Any;
const fits = (one, other) => checker.isTypeAssignableTo(one, other);
const same = (one, other) => fits(one, other) && fits(other, one);
const awaited = (type) => checker.getAwaitedType(type) ?? type;
const membersOf = (type) => (type.isUnion() ? type.types : [type]);
// A component may be a class as well as a function: it is called with the same props.
const callsOf = (type) => {
  const calls = type.getCallSignatures();
  return calls.length ? calls : type.getConstructSignatures().slice(0, 1);
};
// As they are called: `(...all: [entry: LendEntry])`, which a wrapper makes, has one parameter, `entry`.
const parameters = (call) => checker.getExpandedParameters(call, true)[0];
const parameterTypes = (call) => parameters(call).map((one) => checker.getTypeOfSymbol(one));
const isOptional = ({ valueDeclaration: at }) => Boolean(at && ts.isParameter(at) && checker.isOptionalParameter(at));

// Assignability doesn't tell everything: `any` goes with every type both ways, `never` comes out as every type, and
// properties may be added. So they are looked for, wherever types of the two sides meet. For what only Next calls, just
// `any` matters.
const strays = (mine, own, strict, depth = 8, seen = new Set()) => {
  if (mine === own || own.flags & ANY) return false;
  if (mine.flags & ANY || (strict && mine.flags & ts.TypeFlags.Never)) return mine.flags !== own.flags;
  const pair = `${mine.id} ${own.id}`;
  if (depth === 0 || seen.has(pair)) return false;
  seen.add(pair);
  const differ = (one, other) => one && other && strays(one, other, strict, depth - 1, seen);
  if (mine.isUnion() || own.isUnion()) {
    return membersOf(mine).some((one) => {
      const others = membersOf(own).filter((other) => one === other || fits(one, other));
      return others.length > 0 && others.every((other) => differ(one, other));
    });
  }
  if (!(mine.flags & ts.TypeFlags.StructuredType)) return false;
  if (mine.objectFlags & ts.ObjectFlags.Reference && mine.target === own.target) {
    const others = checker.getTypeArguments(own);
    return checker.getTypeArguments(mine).some((one, at) => differ(one, others[at]));
  }
  for (const kind of [ts.IndexKind.String, ts.IndexKind.Number]) {
    const [value, ownValue] = [checker.getIndexTypeOfType(mine, kind), checker.getIndexTypeOfType(own, kind)];
    if (differ(value, ownValue) || (strict && ownValue && !value)) return true;
  }
  if (checker.isArrayLikeType(mine)) return false;
  const ownCall = own.getCallSignatures()[0];
  for (const call of ownCall ? mine.getCallSignatures() : []) {
    const others = parameterTypes(ownCall);
    if (parameterTypes(call).some((type, at) => differ(type, others[at]))) return true;
    if (differ(awaited(call.getReturnType()), awaited(ownCall.getReturnType()))) return true;
  }
  return mine.getProperties().some((property) => {
    const [type, other] = [checker.getTypeOfSymbol(property), own.getProperty(property.name)];
    // Symbols have no name to look up; an inferred union fills its members up with `field?: undefined`.
    if (!other) return strict && !property.escapedName.startsWith("__@") && !(type.flags & ts.TypeFlags.Undefined);
    return other !== property && differ(type, checker.getTypeOfSymbol(other));
  });
};

// What a component makes of its props is its own business, as long as React takes it; the build says whether it does.
const renders = (type) => {
  const made = awaited(type);
  return made.symbol?.name === "Element" || made.symbol?.name === "ReactElement";
};
const madeAny = (call) => Boolean(awaited(call.getReturnType()).flags & ANY);

// Callers may give the same, no less and no more; what they get may be narrower (`"On loan"` for `string`).
const takesTheSame = (call, ownCall) => {
  const [its, owns] = [parameters(call), parameters(ownCall)];
  const [types, ownTypes] = [parameterTypes(call), parameterTypes(ownCall)];
  return (
    its.length === owns.length &&
    its.every((one, at) => isOptional(one) === isOptional(owns[at])) &&
    types.every((type, at) => same(type, ownTypes[at]) && !strays(type, ownTypes[at], true))
  );
};
const sameExport = (mine, own) => {
  const [ownCall] = callsOf(own);
  if (mine.flags & ANY) return false;
  if (ownCall && renders(ownCall.getReturnType())) {
    const calls = callsOf(mine);
    return calls.length > 0 && calls.every((call) => takesTheSame(call, ownCall) && !madeAny(call));
  }
  return fits(mine, own) && !strays(mine, own, true) && (!ownCall || callsOf(mine).every((call) => takesTheSame(call, ownCall)));
};

// What only Next calls may say less or more of what Next hands over (`NextRequest` for `Request`, some of the props,
// another parameter) and more of what it answers (`NextResponse`, an object for `Metadata`): nobody sees the difference.
const takes = (type, own) =>
  fits(type, own) ||
  fits(own, type) ||
  (Boolean(type.flags & ts.TypeFlags.Object) &&
    type.getProperties().every((property) => {
      const other = own.getProperty(property.name);
      if (!other) return true;
      const [its, owns] = [checker.getTypeOfSymbol(property), checker.getTypeOfSymbol(other)];
      return fits(its, owns) || fits(owns, its);
    }));
const sameEntry = (mine, own) => {
  if (mine.flags & ANY) return false;
  const [[call], [ownCall]] = [callsOf(mine), callsOf(own)];
  if (!call || !ownCall) return fits(mine, own) && !strays(mine, own, false);
  const [its, owns, made, ownMade] = [parameterTypes(call), parameterTypes(ownCall), call.getReturnType(), ownCall.getReturnType()];
  return (
    owns.every((type, at) => !its[at] || (takes(its[at], type) && !strays(its[at], type, false))) &&
    (renders(ownMade) ? !madeAny(call) : fits(awaited(made), awaited(ownMade)) && !strays(awaited(made), awaited(ownMade), false))
  );
};

const differences = (file) => {
  const [mine, own] = [runtimeExports(join(tree, file)), runtimeExports(join(app, file))];
  const found = [];
  const kept = file.startsWith("src/app/") ? sameEntry : sameExport;
  for (const [name, type] of own) {
    const its = mine.get(name);
    if (!its) found.push(`\`${name}\` is no longer exported.`);
    else if (!kept(its, type)) found.push(`\`${name}\` is now ${worded(its)}; it must stay ${worded(type)}.`);
  }
  for (const name of mine.keys()) if (!own.has(name)) found.push(`\`${name}\` is exported, which the app does not do.`);
  return found.map((sentence) => [file, sentence]);
};

// The source signals.

// A block that is written again is repeated from this many tokens on: about ten lines.
const REPEATED_TOKENS = 60;
const MOST_TOKENS = 5000; // Larger blocks are not looked at themselves, only what is inside of them.

// The tokens of a file, without comments: where each begins, and its text.
const tokensOf = (source) => {
  const found = { starts: [], texts: [] };
  const walk = (at) => {
    if (ts.isJSDoc(at)) return;
    const children = at.getChildren(source);
    if (children.length) return children.forEach(walk);
    const text = at.getText(source).trim().replace(/\s+/g, " ");
    if (text) found.starts.push(at.getStart(source)), found.texts.push(text);
  };
  walk(source);
  return found;
};
const firstAt = (starts, position) => {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle] < position) low = middle + 1;
    else high = middle;
  }
  return low;
};

const used = (source) => {
  const names = new Set();
  const walk = (node) => {
    if (ts.isImportDeclaration(node)) return;
    const parent = node.parent;
    const isName =
      (ts.isPropertyAccessExpression(parent ?? node) && parent.name === node) ||
      (ts.isPropertyAssignment(parent ?? node) && parent.name === node) ||
      (ts.isJsxAttribute(parent ?? node) && parent.name === node);
    if (ts.isIdentifier(node) && !isName) names.add(node.text);
    node.jsDoc?.forEach(walk); // `{@link name}` is a use.
    ts.forEachChild(node, walk);
  };
  walk(source);
  return names;
};

const signals = (file) => {
  const source = program.getSourceFile(join(tree, file));
  const found = [];
  const add = (rule, node, message) =>
    found.push({ rule, file, line: source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1, message });
  const names = used(source);
  const { starts, texts } = tokensOf(source);
  const seen = new Map(); // Of one file: what two files share, no export may offer and no new file hold.
  const walk = (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) add("explicit-any", node, "`any` switches the type check off.");
    else if (ts.isNonNullExpression(node))
      add("non-null-assertion", node, `\`${node.getText(source).slice(0, 60)}\` claims what the compiler can't see.`);
    else if (
      ts.isCallExpression(node) &&
      (ts.isPropertyAccessExpression(node.expression) || ts.isElementAccessExpression(node.expression)) &&
      /^((globalThis|window)\??\.)?console$/.test(node.expression.expression.getText(source))
    )
      add("console-call", node, `A call of \`${node.expression.getText(source)}\` was left over.`);
    else if ((ts.isImportSpecifier(node) || ts.isNamespaceImport(node) || ts.isImportClause(node)) && node.name) {
      if (!names.has(node.name.text)) add("unused-import", node, `\`${node.name.text}\` is imported and never used.`);
    }
    if (ts.isBlock(node) || ts.isJsxElement(node) || ts.isJsxFragment(node)) {
      const [from, to] = [firstAt(starts, node.getStart(source)), firstAt(starts, node.end)];
      const count = to - from;
      if (count >= REPEATED_TOKENS && count <= MOST_TOKENS) {
        const key = createHash("sha256").update(texts.slice(from, to).join(" ")).digest("base64");
        const first = seen.get(key);
        if (first) {
          add("repeated-block", node, `These ${count} tokens stand in ${first} already.`);
          return; // What is inside of it is no second finding.
        }
        seen.set(key, `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`);
      }
    }
    ts.forEachChild(node, walk);
  };
  walk(source);
  return found;
};

const present = modules.filter((file) => existsSync(join(tree, file)));
// A file may be cut in the middle of a character that takes two units, or hold half of one.
const wellFormed = (_, value) => (typeof value === "string" ? value.toWellFormed() : value);
writeFileSync(out, JSON.stringify({ exports: modules.flatMap(differences), signals: present.flatMap(signals) }, wellFormed));
