import { type ComponentType, lazy, useState } from "react";

/** A component's code, which may not be there yet. */
interface Code<Props extends object> {
  ready: ComponentType<Props> | undefined;
  readonly awaited: ComponentType<Props>;
}

/**
 * A component whose code comes when it is first drawn, or before that by `load`. Once the code is there the component is drawn at
 * once, while React's own `lazy` would show the fallback even then, and keep it for 300 ms.
 */
export function late<Props extends object>(read: () => Promise<ComponentType<Props>>) {
  const load = async () => {
    code.ready ??= await read();
    return code.ready;
  };
  const code: Code<Props> = { ready: undefined, awaited: lazy(async () => ({ default: await load() })) };
  const draw = (props: Props) => <Late code={code} props={props} />;
  return Object.assign(draw, { load });
}

function Late<Props extends object>({ code, props }: { code: Code<Props>; props: Props }) {
  // One that has begun to wait stays the same component, and keeps its state.
  const [Chosen] = useState<ComponentType<Props>>(() => code.ready ?? code.awaited);
  return <Chosen {...props} />;
}
