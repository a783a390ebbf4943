import { items } from "@/db";

/** Misbehaves as it is told. */
export async function GET(request: Request) {
  const how = new URL(request.url).searchParams.get("how");
  if (how === "spin") for (;;);
  if (how === "exit") process.exit(7);
  if (how === "never") await new Promise(() => undefined);
  if (how === "unknown") await (items as unknown as { list(): Promise<unknown> }).list();
  return new Response("no JSON");
}
