/** A bug that somebody could make, as changes of the source. Each text to be replaced stands in its file exactly once. */
export interface Mutant {
  readonly name: string;
  /** The test file that must find it, where the simulator cannot: what it is about is not simulated, or happens too seldom. */
  readonly test?: string;
  /** It is found in lives with more tasks than seats. */
  readonly isCrowded?: true;
  readonly edits: readonly { readonly file: string; readonly from: string; readonly to: string }[];
}
