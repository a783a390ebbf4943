import { items } from "@/db";

/** Answers at once, and goes on. */
export async function GET() {
  void items.count().then(() => items.setMaintenance("it-1", true));
  return Response.json({});
}
