import { lazy, Suspense } from "react";
import type { StaleChange } from "./use-act.ts";

const WhatHappened = lazy(() => import("./what-happened.tsx").then(({ WhatHappened }) => ({ default: WhatHappened })));

/** What somebody else did to the task since the person saw it, under a refusal for that reason. */
export function StaleNote({ change }: { change: StaleChange | undefined }) {
  if (change === undefined) return null;
  return (
    <Suspense fallback={null}>
      <WhatHappened change={change} />
    </Suspense>
  );
}
