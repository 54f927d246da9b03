import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { problemsOf } from "./data/client.ts";
import { useDaemonState } from "./data/daemon-state.ts";
import { followDaemon } from "./data/follow.ts";
import { signIn, takeLinkSecret } from "./data/sign-in.ts";
import { router } from "./router.tsx";
import { SignedOut } from "./shell/signed-out.tsx";
import { useTheme } from "./shell/theme.ts";
import "./styles.css";

const client = new QueryClient({
  defaultOptions: {
    queries: {
      // Events say what is stale; time does not.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      // The event stream reads failed queries again once the daemon is back.
      retry: false,
      networkMode: "always",
    },
    mutations: { networkMode: "always" },
  },
});

function Page({ problem }: { problem: string }) {
  useTheme();
  const { isSignedOut } = useDaemonState();
  if (isSignedOut || problem !== "") return <SignedOut problem={problem} />;
  return (
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

const secret = takeLinkSecret();
const problem = secret === undefined ? "" : await signIn(secret).then(() => "", tellProblem);
if (problem === "") followDaemon(client);
const place = document.getElementById("page");
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <Page problem={problem} />
    </StrictMode>,
  );

function tellProblem(error: unknown): string {
  return problemsOf(error)
    .map(({ text }) => text)
    .join("\n");
}
