import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { Inbox } from "./inbox/inbox.tsx";
import { type PageSearch, readBoardSearch, readInboxSearch, readPageSearch, readTaskSearch } from "./search.ts";
import { NotFound } from "./shell/not-found.tsx";
import { Shell } from "./shell/shell.tsx";
import { Failed, Loading } from "./ui/states.tsx";

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFound,
  validateSearch: readPageSearch,
  search: { middlewares: [retainSearchParams<PageSearch>(["project"])] },
});

const inbox = createRoute({ getParentRoute: () => root, path: "/", validateSearch: readInboxSearch, component: Inbox });

const board = createRoute({
  getParentRoute: () => root,
  path: "/board",
  validateSearch: readBoardSearch,
  component: lazyRouteComponent(() => import("./board/board.tsx"), "Board"),
});

const task = createRoute({
  getParentRoute: () => root,
  path: "/tasks/$task",
  validateSearch: readTaskSearch,
  component: lazyRouteComponent(() => import("./task/task-page.tsx"), "TaskPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([inbox, board, task]),
  defaultErrorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
  defaultPendingComponent: () => <Loading what="the page" />,
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
