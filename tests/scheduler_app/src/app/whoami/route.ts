import { getStaff } from "@/lib/session";

export async function GET(request: Request) {
  const tagged = [...request.headers.keys()].some((name) => name.includes("lendbench"));
  return Response.json({ staff: (await getStaff())?.id ?? null, tagged });
}
