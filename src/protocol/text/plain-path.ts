/** Whether an absolute path is written the one way that paths are compared in: no ".", "..", empty parts, "/" at the end or control characters. Pure. */
export function isPlain(path: string): boolean {
  if (path === '/') return true
  const [first, ...parts] = path.split('/')
  return first === '' && parts.length > 0 && parts.every((part) => part !== '' && part !== '.' && part !== '..') && !/\p{Cc}/u.test(path)
}
