/** Directories that hold other people's or many projects' files, such as `/etc` or `/home/ada`, have fewer names. */
const NAMES = 3

/** `<directory>/**`, everything below, for the pattern of one directory outside the session; undefined where that is too much to offer. */
export function widerDirectory(pattern: string): string | undefined {
  const directory = pattern.slice(0, -2)
  if (!pattern.endsWith('/*') || /[*?]/.test(directory)) return undefined
  return directory.split('/').filter(Boolean).length < NAMES ? undefined : `${directory}/**`
}
