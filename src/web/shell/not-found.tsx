import { Link } from "@tanstack/react-router";
import { Empty } from "../ui/states.tsx";

export function NotFound() {
  return (
    <Empty title="There is nothing at this address" isScreen>
      <Link to="/" className="text-accent underline">
        Go to the inbox
      </Link>
    </Empty>
  );
}
