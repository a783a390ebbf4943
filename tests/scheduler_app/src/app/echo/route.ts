import { items } from "@/db";

export async function GET() {
  return Response.json({ categories: (await items.categories()).length });
}
