/** Takes the secret parts of an address out of a text: servers like to repeat what they were sent. */
export function createMask(url: string, secret: string | undefined): (text: string) => string {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const pair = `${decoded(username)}:${decoded(password)}`;
  const parts = [secret ?? "", password, username, pathname, search.slice(1), ...searchParams.values()];
  const encoded = [...parts.flatMap((part) => [part, decoded(part)]), Buffer.from(pair).toString("base64")];
  // The longest first, so that no part hides a longer one. What is this short is no secret.
  const hidden = [...new Set(encoded)].filter((part) => part.length > 2).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, part) => rest.replaceAll(part, "…"), text);
}

/** A part of an address as it was meant, where it can be read. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
