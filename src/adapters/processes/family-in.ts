interface Relative {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** 0 where the system does not tell. */
  readonly session: number;
}

/** A process, everybody of its group and its session, and who descends from any of them. */
export function familyIn<Each extends Relative>(everybody: readonly Each[], root: number): readonly Each[] {
  const children = Map.groupBy(everybody, ({ parent }) => parent);
  const found = new Map<number, Each>();
  const open = everybody.filter(({ pid, group, session }) => pid === root || group === root || session === root);
  for (let each = open.pop(); each !== undefined; each = open.pop()) {
    if (found.has(each.pid)) continue;
    found.set(each.pid, each);
    open.push(...(children.get(each.pid) ?? []));
  }
  return [...found.values()];
}
