/** The strongly connected components of a graph, as a component number for each node (Tarjan, without recursion). */
export function components(size: number, targets: (node: number) => readonly number[]): readonly number[] {
  const index = new Array<number>(size).fill(-1);
  const low = new Array<number>(size).fill(0);
  const component = new Array<number>(size).fill(-1);
  const stack: number[] = [];
  const onStack = new Array<boolean>(size).fill(false);
  let counter = 0;
  let found = 0;
  for (let root = 0; root < size; root++) {
    if (index[root] !== -1) continue;
    const work: { node: number; next: number; to: readonly number[] }[] = [];
    const open = (node: number) => {
      index[node] = counter;
      low[node] = counter;
      counter++;
      stack.push(node);
      onStack[node] = true;
      work.push({ node, next: 0, to: targets(node) });
    };
    open(root);
    for (let frame = work.at(-1); frame !== undefined; frame = work.at(-1)) {
      const { node } = frame;
      const to = frame.to[frame.next++];
      if (to !== undefined) {
        if (index[to] === -1) open(to);
        else if (onStack[to]) low[node] = Math.min(low[node] ?? 0, index[to] ?? 0);
        continue;
      }
      work.pop();
      const above = work.at(-1);
      if (above !== undefined) low[above.node] = Math.min(low[above.node] ?? 0, low[node] ?? 0);
      if (low[node] !== index[node]) continue;
      for (;;) {
        const member = stack.pop();
        if (member === undefined) break;
        onStack[member] = false;
        component[member] = found;
        if (member === node) break;
      }
      found++;
    }
  }
  return component;
}
