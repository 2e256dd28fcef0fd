/** Rules, and answers that are remembered beside them (sessions-events §8, §8.11). */
import * as z from 'zod'
import { ms } from '../shared.js'

export const PermissionAction = z.enum(['allow', 'deny', 'ask'])
export type PermissionAction = z.infer<typeof PermissionAction>

export const PermissionRule = z
  .strictObject({ permission: z.string().min(1), pattern: z.string().min(1), action: PermissionAction })
  .meta({ id: 'PermissionRule' })
export type PermissionRule = z.infer<typeof PermissionRule>

/** An answer that is remembered. */
export const RememberedAnswer = z
  .looseObject({
    id: z.string(),
    permission: z.string(),
    pattern: z.string(),
    exact: z.literal(true).optional().describe('It holds for this very target; otherwise for what the pattern matches.'),
    place: z.string().describe('What it belongs to: a git directory, or a directory outside of any repository.'),
    remembered: ms.optional(),
    sessionId: z.string().optional().describe('Where it was given.'),
    by: z.string().optional().describe('Who gave it. As the other two absent for one of an earlier version.'),
  })
  .meta({ id: 'RememberedAnswer' })
export type RememberedAnswer = z.infer<typeof RememberedAnswer>
