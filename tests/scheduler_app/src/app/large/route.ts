import { items } from "@/db";

/** Three million characters at once, and the number of items when the store tells it. */
export async function GET() {
  const text = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let n = 0; n < 30; n += 1) controller.enqueue(text.encode("é".repeat(100_000)));
      controller.enqueue(text.encode(String(await items.count())));
      controller.close();
    },
  });
  return new Response(body);
}
