/** What a tool call did to a file: its states before and after, kept in the part of the call (sessions-events §7.2). */
import * as z from 'zod'

/**
 * A file, a link or nothing. Small contents stand here; those of larger files are kept beside, under their digest. The
 * permission bits are those on disk, or those the repository knows where nobody looked before.
 */
export const FileState = z.looseObject({
  exists: z.boolean(),
  contentBase64: z.string().optional(),
  sha256: z.string().optional(),
  /** Where a symbolic link leads; such a state has no content. */
  link: z.string().optional(),
  mode: z.number().int().min(0).max(0o7777).optional(),
  /** The content is kept beside. */
  stored: z.literal(true).optional(),
})
export type FileState = z.infer<typeof FileState>

export const FileSnapshot = z.looseObject({
  /** Relative to the directory of the session, or absolute when it lies outside. */
  path: z.string().min(1),
  absolute: z.literal(true).optional(),
  before: FileState,
  after: FileState,
})
export type FileSnapshot = z.infer<typeof FileSnapshot>

/** What a part says of the changes of its call. */
export const ChangeNotes = z.object({
  snapshots: z.array(FileSnapshot).optional(),
  /** Why not all of what the call changed is kept: it cannot be undone. */
  unkept: z.string().optional(),
})
export type ChangeNotes = z.infer<typeof ChangeNotes>
