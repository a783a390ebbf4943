import { connection } from "next/server";

import { now } from "@/lib/clock";
import { deskDay } from "@/lib/desk-time";

export async function GET() {
  await connection();
  return Response.json(deskDay(now()));
}
