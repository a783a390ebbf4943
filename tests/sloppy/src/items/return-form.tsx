"use client";

import { useEffect, useMemo, useState } from "react";

export interface ReturnFormProps {
  loanId: string;
}

export function ReturnForm(props: ReturnFormProps) {
  const [condition, setCondition] = useState<any>("");
  const [note, setNote] = useState("");
  const [loading, setLoading] = useState(false);
  const [result, setResult] = useState<any>(null);

  useEffect(() => {
    if (result) {
      setNote("");
      setCondition("");
    }
  }, [result]);

  async function submit(event: any) {
    event.preventDefault();
    setLoading(true);
    console.log("returning", props.loanId, condition, note);
    const response = await fetch("/api/loans/" + props.loanId + "/return", { method: "POST" });
    const body = await response.json();
    setResult(body);
    setLoading(false);
  }

  return (
    <div>
      <img src="/return.png" />
      <div onClick={() => setResult(null)}>Clear</div>
      <input value={condition} onChange={(event) => setCondition(event.target!.value)} />
      <textarea value={note} onChange={(event) => setNote(event.target!.value)} />
      <button onClick={submit}>{loading ? "Returning" : "Return"}</button>
      <p dangerouslySetInnerHTML={{ __html: result?.message ?? "" }} />
    </div>
  );
}
