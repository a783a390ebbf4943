// What the TypeScript compiler knows of a candidate's writable files: where their exports differ from the app's own, and
// the source signals. It only reads; nothing of the candidate runs.
//
//   node compiler.mjs TREE APP TOOLS OUT WRITABLE…
//
// TREE is the candidate's clean tree, APP the untouched app, TOOLS our own packages. Writes to OUT, as JSON:
// { exports: [[file, sentence]], signals: [{ rule, file, line, message }] }.
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
const program = ts.createProgram([join(tree, "next-env.d.ts"), ...existing.flat()], options, host);
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
  for (const symbol of module ? checker.getExportsOfModule(module) : []) {
    const typeOnly = symbol.declarations?.every(
      (at) => ts.isExportSpecifier(at) && (at.isTypeOnly || at.parent.parent.isTypeOnly),
    );
    const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!typeOnly && target.flags & ts.SymbolFlags.Value)
      found.set(symbol.name, checker.getTypeOfSymbolAtLocation(symbol, source));
  }
  return found;
};

const isAny = (type) => Boolean(type.flags & ts.TypeFlags.Any);
const callOf = (type) => type.getCallSignatures()[0];
const parameters = (call) => call.getParameters().map((one) => checker.getTypeOfSymbol(one));
const awaited = (type) => checker.getAwaitedType(type) ?? type;

// `any` is assignable to everything and everything to it: it must be looked for, in what goes in and comes out.
const hidesAny = (mine, own, depth = 4) => {
  if (isAny(mine)) return !isAny(own);
  if (depth === 0) return false;
  const [call, ownCall] = [callOf(mine), callOf(own)];
  if (call && ownCall) {
    const ownParameters = parameters(ownCall);
    const pairs = parameters(call).flatMap((type, at) => (ownParameters[at] ? [[type, ownParameters[at]]] : []));
    pairs.push([awaited(call.getReturnType()), awaited(ownCall.getReturnType())]);
    return pairs.some(([one, other]) => hidesAny(one, other, depth - 1));
  }
  return mine.getProperties().some((property) => {
    const other = own.getProperty(property.name);
    return other && other !== property && hidesAny(checker.getTypeOfSymbol(property), checker.getTypeOfSymbol(other), depth - 1);
  });
};

const fits = (one, other) => checker.isTypeAssignableTo(one, other);
const same = (one, other) => fits(one, other) && fits(other, one);

// What a component makes of its props is its own business, as long as React takes it; the build says whether it does.
const renders = (type) => {
  const made = awaited(type);
  return made.symbol?.name === "Element" || made.symbol?.name === "ReactElement";
};
const sameExport = (mine, own) => {
  if (hidesAny(mine, own)) return false;
  const [call, ownCall] = [callOf(mine), callOf(own)];
  if (!call || !ownCall || !renders(ownCall.getReturnType())) return same(mine, own);
  const [its, owns] = [parameters(call), parameters(ownCall)];
  return its.length === owns.length && its.every((type, at) => same(type, owns[at]));
};

// What only Next calls may say less or more of what Next hands over (`NextRequest` for `Request`, some of the props) and
// more of what it answers (`NextResponse`, an object for `Metadata`): nobody sees the difference.
const sameEntry = (mine, own) => {
  if (hidesAny(mine, own)) return false;
  const [call, ownCall] = [callOf(mine), callOf(own)];
  if (!call || !ownCall) return fits(mine, own);
  const [its, owns, made, ownMade] = [parameters(call), parameters(ownCall), call.getReturnType(), ownCall.getReturnType()];
  return (
    its.length <= owns.length &&
    its.every((type, at) => fits(type, owns[at]) || fits(owns[at], type)) &&
    (renders(ownMade) || fits(awaited(made), awaited(ownMade)))
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
const seen = new Map();

const tokens = (source, node) => {
  const found = [];
  const walk = (at) => {
    const children = at.getChildren(source);
    if (children.length) children.forEach(walk);
    else if (at.getWidth(source)) found.push(at.getText(source));
  };
  walk(node);
  return found;
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
  const walk = (node) => {
    if (node.kind === ts.SyntaxKind.AnyKeyword) add("explicit-any", node, "`any` switches the type check off.");
    else if (ts.isNonNullExpression(node))
      add("non-null-assertion", node, `\`${node.getText(source).slice(0, 60)}\` claims what the compiler can't see.`);
    else if (
      ts.isCallExpression(node) &&
      ts.isPropertyAccessExpression(node.expression) &&
      node.expression.expression.getText(source) === "console"
    )
      add("console-call", node, `A call of \`${node.expression.getText(source)}\` was left over.`);
    else if ((ts.isImportSpecifier(node) || ts.isNamespaceImport(node) || ts.isImportClause(node)) && node.name) {
      if (!names.has(node.name.text)) add("unused-import", node, `\`${node.name.text}\` is imported and never used.`);
    }
    if (ts.isBlock(node) || ts.isJsxElement(node) || ts.isJsxFragment(node)) {
      const words = tokens(source, node);
      const key = words.join(" ");
      const first = seen.get(key);
      if (words.length >= REPEATED_TOKENS && first) {
        add("repeated-block", node, `These ${words.length} tokens stand in ${first} already.`);
        return; // What is inside of it is no second finding.
      }
      if (words.length >= REPEATED_TOKENS)
        seen.set(key, `${file}:${source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1}`);
    }
    ts.forEachChild(node, walk);
  };
  walk(source);
  return found;
};

const present = modules.filter((file) => existsSync(join(tree, file)));
writeFileSync(out, JSON.stringify({ exports: modules.flatMap(differences), signals: present.flatMap(signals) }));
