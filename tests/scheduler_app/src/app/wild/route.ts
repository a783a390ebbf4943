import { items } from "@/db";

/** Misbehaves as it is told. */
export async function GET(request: Request) {
  switch (new URL(request.url).searchParams.get("how")) {
    case "spin":
      for (;;);
    case "exit":
      process.exit(7);
    case "never":
      await new Promise(() => undefined);
      break;
    case "restless":
      void (async () => {
        for (;;) await new Promise((resolve) => setTimeout(resolve, 3));
      })();
      break;
    case "late":
      // Answers at once, and goes on.
      void items.count().then(() => items.setMaintenance("it-1", true));
  }
  return new Response(JSON.stringify(Object.keys(process.env)).slice(1));
}
