import { expect } from 'vitest'

/** Matchers whose type is not `any`. */
export const containing = (text: string): unknown => expect.stringContaining(text)
export const matching = (pattern: RegExp): unknown => expect.stringMatching(pattern)
export const anyText: unknown = expect.any(String)
export const anyNumber: unknown = expect.any(Number)
