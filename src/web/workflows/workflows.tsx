export function Workflows() {
  return null;
}
