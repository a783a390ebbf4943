import { items, loans, members } from "@/db";

const limit = 3;
const staffId = "st-imke";
const dueOn = "2031-11-08";
const at = "2031-11-05T02:10:00.000Z";

let queue: Promise<unknown> = Promise.resolve();

async function naive(itemId: string, memberId: string): Promise<boolean> {
  const [item, member, open] = await Promise.all([items.get(itemId), members.get(memberId), loans.list({ open: true })]);
  if (item === null || member === null || open.some((loan) => loan.itemId === itemId)) return false;
  await loans.create({ itemId, memberId, dueOn, at, staffId });
  return true;
}

/** Ways to lend an item. All but the first two are right whatever the timing. */
export const ways: Record<string, (itemId: string, memberId: string) => Promise<boolean>> = {
  naive,
  "naive-slow": async (itemId, memberId) => {
    if (await loans.list({ itemId, open: true }).then((open) => open.length > 0)) return false;
    await new Promise((resolve) => setTimeout(resolve, 20));
    if ((await members.get(memberId)) === null) return false;
    await loans.create({ itemId, memberId, dueOn, at, staffId });
    return true;
  },
  atomic: async (itemId, memberId) => {
    const [item, open] = await Promise.all([items.get(itemId), loans.list({ itemId, open: true })]);
    if (item === null || open.length > 0) return false;
    return (await loans.checkOut({ itemId, memberId, dueOn, at, staffId, limit })).ok;
  },
  "atomic-only": async (itemId, memberId) =>
    (await loans.checkOut({ itemId, memberId, dueOn, at, staffId, limit })).ok,
  mutex: (itemId, memberId) => {
    const mine = queue.then(() => naive(itemId, memberId));
    queue = mine.catch(() => undefined);
    return mine;
  },
  recheck: async (itemId, memberId) => {
    if ((await loans.list({ itemId, open: true })).length > 0) return false;
    const mine = await loans.create({ itemId, memberId, dueOn, at, staffId });
    const open = await loans.list({ itemId, open: true });
    if (open.every((loan) => loan.id >= mine.id)) return true;
    await loans.close({ id: mine.id, at, staffId, condition: "good", note: null });
    return false;
  },
};
