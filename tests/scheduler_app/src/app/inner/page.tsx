import { headers } from "next/headers";

import { items } from "@/db";

/** Asks this very server for JSON, and then the store. */
export default async function Page() {
  const host = (await headers()).get("host");
  const [echo, count] = await Promise.all([
    fetch(`http://${host}/echo`, { cache: "no-store" }).then((answer) => answer.json()),
    items.count(),
  ]);
  return (
    <p>
      {echo.categories} of {count}
    </p>
  );
}
