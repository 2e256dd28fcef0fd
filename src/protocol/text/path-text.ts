/** Text that names a place in the file system. What a program in C reads of it would end at a NUL. */
import * as z from 'zod'

export const pathText = z.string().refine((text) => !text.includes('\0'), 'must not contain a NUL character')

/** Whether a name holds what no patch may name: a control character. */
export function hasControls(name: string): boolean {
  return /\p{Cc}/u.test(name)
}
