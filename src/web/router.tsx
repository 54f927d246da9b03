import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { Inbox } from "./inbox/inbox.tsx";
import {
  type PageSearch,
  readAgentsSearch,
  readBoardSearch,
  readInboxSearch,
  readMergesSearch,
  readPageSearch,
  readSettingsSearch,
  readTaskSearch,
  readTimelineSearch,
  readUsageSearch,
  readWorkflowsSearch,
} from "./search.ts";
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

const agents = createRoute({
  getParentRoute: () => root,
  path: "/agents",
  validateSearch: readAgentsSearch,
  component: lazyRouteComponent(() => import("./agents/agents.tsx"), "Agents"),
});

const timeline = createRoute({
  getParentRoute: () => root,
  path: "/timeline",
  validateSearch: readTimelineSearch,
  component: lazyRouteComponent(() => import("./timeline/timeline.tsx"), "Timeline"),
});

const usage = createRoute({
  getParentRoute: () => root,
  path: "/usage",
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import("./usage/usage.tsx"), "Usage"),
});

const workflows = createRoute({
  getParentRoute: () => root,
  path: "/workflows",
  validateSearch: readWorkflowsSearch,
  component: lazyRouteComponent(() => import("./workflows/workflows.tsx"), "Workflows"),
});

const merges = createRoute({
  getParentRoute: () => root,
  path: "/merges",
  validateSearch: readMergesSearch,
  component: lazyRouteComponent(() => import("./merges/merges.tsx"), "Merges"),
});

const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  validateSearch: readSettingsSearch,
  component: lazyRouteComponent(() => import("./settings/settings.tsx"), "Settings"),
});

export const router = createRouter({
  routeTree: root.addChildren([inbox, board, task, agents, timeline, usage, workflows, merges, settings]),
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
