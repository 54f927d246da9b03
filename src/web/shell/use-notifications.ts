import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { useEffect, useSyncExternalStore } from "react";
import { isNotifying, onNotifying } from "../notify/switch.ts";

/** Tells the person what needs them while this is switched on. What does so is loaded only then. */
export function useNotifications(): void {
  const isOn = useSyncExternalStore(onNotifying, isNotifying);
  const client = useQueryClient();
  const router = useRouter();
  useEffect(() => {
    if (!isOn) return;
    let end: (() => void) | undefined;
    let isOver = false;
    const shown = () => {
      const { pathname, search } = router.state.location;
      const [, task] = /^\/tasks\/([^/]+)/.exec(pathname) ?? [];
      return task ?? (pathname === "/" ? (search as { task?: string }).task : undefined);
    };
    const open = (task: string) => void router.navigate({ to: "/", search: { task } });
    void import("../notify/notify.ts").then(({ notifyPerson }) => {
      const onShown = (listener: () => void) => router.subscribe("onResolved", listener);
      if (!isOver) end = notifyPerson({ client, shownTask: shown, onShown, open });
    });
    return () => {
      isOver = true;
      end?.();
    };
  }, [isOn, client, router]);
}
