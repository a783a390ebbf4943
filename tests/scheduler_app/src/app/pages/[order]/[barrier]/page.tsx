import { Suspense, cache } from "react";

import { readBoth } from "@/reads";

const readOnce = cache(readBoth);

async function Both({ order, barrier }: { order: string; barrier: string }) {
  return <p>{await readOnce(order, barrier)}</p>;
}

export async function generateMetadata({ params }: PageProps<"/pages/[order]/[barrier]">) {
  const { order, barrier } = await params;
  return { title: barrier === "nothing" ? await readOnce(order, barrier) : barrier };
}

export default async function Page({ params, searchParams }: PageProps<"/pages/[order]/[barrier]">) {
  const { order, barrier } = await params;
  const both = <Both order={order} barrier={barrier} />;
  if ((await searchParams).shell === undefined) return both;
  return (
    <main>
      <h1>The shell</h1>
      <Suspense fallback={<p>On its way</p>}>{both}</Suspense>
    </main>
  );
}
