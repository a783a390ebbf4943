import { Suspense } from "react";

import { readBoth } from "@/reads";

async function Both({ style }: { style: string }) {
  return <p>{await readBoth(style)}</p>;
}

export default async function Page({ params, searchParams }: PageProps<"/pages/[style]">) {
  const { style } = await params;
  const { shell } = await searchParams;
  if (shell === undefined) return <Both style={style} />;
  return (
    <main>
      <h1>The shell</h1>
      <Suspense fallback={<p>On its way</p>}>
        <Both style={style} />
      </Suspense>
    </main>
  );
}
