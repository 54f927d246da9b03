export function Merges() {
  return null;
}
