/** What people are told of a file that is not taken because others could change it (threat-model W3). */

/** The rest of a sentence that starts with the file. */
export function reachedThrough({ path, how }: { readonly path: string; readonly how: string }): string {
  return `is reached through ${path}, which ${how}`
}
