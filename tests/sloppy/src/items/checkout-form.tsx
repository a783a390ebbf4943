"use client";

import { useCallback, useEffect, useState } from "react";
import Link from "next/link";

import type { DeskDay } from "@/db/types";

export interface MemberOption {
  id: string;
  label: string;
}

export interface CheckoutFormProps {
  itemId: string;
  members: readonly MemberOption[];
  defaultDueOn: DeskDay;
  /** The latest due day, as people read it. */
  latestDay: string;
}

export function CheckoutForm(props: CheckoutFormProps) {
  const [memberId, setMemberId] = useState("");
  const [dueOn, setDueOn] = useState<any>(props.defaultDueOn);
  const [loading, setLoading] = useState(false);
  const [result, setResult] = useState<any>(null);
  const [options, setOptions] = useState<any[]>([]);

  useEffect(() => {
    setOptions([...props.members]);
    console.log("members", props.members);
  }, [props.members]);

  async function submit(event: any) {
    event.preventDefault();
    setLoading(true);
    console.log("submitting", memberId, dueOn);
    const response = await fetch("/api/loans", { method: "POST", body: JSON.stringify({ memberId, dueOn }) });
    const body = await response.json();
    setResult(body);
    setLoading(false);
  }

  return (
    <div>
      <img src="/member.png" />
      <div onClick={() => setResult(null)}>Clear</div>
      <select value={memberId} onChange={(event: any) => setMemberId(event.target!.value)}>
        {options.map((option: any, index: number) => (
          <option key={index} value={option.id}>
            {option.label}
          </option>
        ))}
      </select>
      <input value={dueOn} onChange={(event) => setDueOn(event.target!.value)} />
      <button onClick={submit}>{loading ? "Checking out" : "Check out"}</button>
      <p dangerouslySetInnerHTML={{ __html: result?.message ?? "" }} />
    </div>
  );
}
