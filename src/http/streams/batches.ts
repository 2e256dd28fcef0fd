/**
 * Frames on their way to many readers: whoever was written the same since the last round shares one list of them, and its bytes once they are
 * joined. A reader costs a step along that list for a frame, and no list of its own.
 */

export interface Batch {
  /** What was written last; undefined = nothing was. */
  readonly frame: Uint8Array | undefined
  readonly before: Batch | undefined
  /** Of all its frames. */
  readonly bytes: number
  readonly count: number
  /** What somebody was written after it. */
  next: Batch | undefined
  joined: Uint8Array | undefined
}

export function emptyBatch(): Batch {
  return { frame: undefined, before: undefined, bytes: 0, count: 0, next: undefined, joined: undefined }
}

/** The same batch for all who were at `batch` and are written this very frame. */
export function batchWith(batch: Batch, frame: Uint8Array): Batch {
  const { next } = batch
  if (next?.frame === frame) return next
  const made = { frame, before: batch, bytes: batch.bytes + frame.byteLength, count: batch.count + 1, next: undefined, joined: undefined }
  batch.next = made
  return made
}

/** Its frames as one piece, made once. */
export function joinedBatch(batch: Batch): Uint8Array {
  batch.joined ??= join(batch)
  return batch.joined
}

function join({ frame, before, bytes, count }: Batch): Uint8Array {
  if (frame === undefined) return new Uint8Array(0)
  if (count === 1) return frame
  const frames: Uint8Array[] = [frame]
  for (let at = before; at?.frame !== undefined; at = at.before) frames.push(at.frame)
  return Buffer.concat(frames.toReversed(), bytes)
}
