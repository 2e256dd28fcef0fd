/** What operations that are about a session have in common. */
import * as z from 'zod'

/**
 * The session that is meant: one whose call, hook, request or event the plugin serves. May be left out while there is one only, and in a plugin
 * of a session.
 */
export const sessionId = z.string().min(1).max(200).optional()

/** By which the plugin names again what the host has opened for it. */
export const opaqueId = z.string().min(1).max(256)

/** How long the answer may wait; 0 = not at all. Lua waits ten seconds for an answer of the host and no longer. */
export const waitMs = (most: number) => z.int().min(0).max(most).default(0)

/** Of a list that goes on where the last answer has ended. */
export const cursor = z.string().min(1).max(200)

export const NO_SESSION = 'the plugin serves no session at the moment, or several and the input does not say which'
export const FOREIGN_SESSION = 'the session is none of its own'
export const NOT_OPEN = 'nothing of this id is known'
