/** Large files read by the piece: pages that were read stay for as long as somebody is at it. */
import type { Effects } from '../../../ports/effects.js'
import { createLru } from '../../../kernel/lru.js'

export interface FilePages {
  /** Bytes from `offset`; fewer where the file ends. */
  bytes(path: string, offset: number, length: number): Promise<Buffer>
}

const PAGE = 64 * 1024

export function createFilePages(files: Pick<Effects['files'], 'readRange'>, maxBytes: number): FilePages {
  const pages = createLru<string, Buffer>(Math.max(1, Math.floor(maxBytes / PAGE)))

  async function page(path: string, number: number): Promise<Buffer> {
    const key = `${number} ${path}`
    const known = pages.get(key)
    if (known !== undefined) return known
    const bytes = Buffer.from(await files.readRange(path, number * PAGE, PAGE))
    pages.set(key, bytes)
    return bytes
  }

  return {
    async bytes(path, offset, length) {
      const first = Math.floor(offset / PAGE)
      const last = Math.floor((offset + Math.max(length, 1) - 1) / PAGE)
      const parts: Buffer[] = []
      for (let number = first; number <= last; number++) {
        const whole = await page(path, number)
        parts.push(whole.subarray(number === first ? offset - number * PAGE : 0))
        if (whole.length < PAGE) break
      }
      const [only] = parts
      return (parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)).subarray(0, length)
    },
  }
}
