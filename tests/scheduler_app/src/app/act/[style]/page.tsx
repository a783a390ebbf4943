import { items } from "@/db";
import { revalidatePath } from "next/cache";

import { ways } from "@/lend";

async function lend(form: FormData) {
  "use server";
  await ways[String(form.get("style"))](String(form.get("itemId")), String(form.get("memberId")));
  revalidatePath("/act");
}

export default async function Page({ params }: PageProps<"/act/[style]">) {
  const { style } = await params;
  return (
    <form action={lend}>
      <p>{await items.count()} items</p>
      <input name="style" defaultValue={style} />
      <input name="itemId" defaultValue="it-1" />
      <input name="memberId" defaultValue="mb-1" />
      <button>Lend</button>
    </form>
  );
}
