import { ways } from "@/lend";

export async function POST(request: Request, { params }: RouteContext<"/race/[style]">) {
  const { style } = await params;
  const { itemId, memberId } = await request.json();
  const lent = await ways[style](itemId, memberId);
  return Response.json({ lent }, { status: lent ? 201 : 409 });
}
