/** What a picture of a page shows: text is looked for in the pixels where the page says it is. */
import type { Browser, Page } from 'playwright-core'

interface Box {
  readonly text: string
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export interface Picture {
  readonly png: Buffer
  /** Text that is in sight by the page's own account, where it was before and after the picture was taken: pages live. */
  readonly texts: readonly string[]
  /** Text whose pixels do not stand out from each other: nobody can read it. */
  readonly illegible: readonly string[]
}

/** Ratio of the brightest to the darkest pixel of a text; thin strokes never reach their full colour. */
const CONTRAST = 3

/** How often is looked at once more where something cannot be read. */
const LOOKS = 3

/** What nobody can read stays so: of a page that lives on a busy machine a picture may show a frame that is painted in part. */
export async function pictureOf(page: Page): Promise<Picture> {
  let picture = await takenOf(page)
  for (let look = 0; look < LOOKS && picture.illegible.length > 0; look++) {
    const known = picture.illegible
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))))
    const next = await takenOf(page)
    picture = { ...next, illegible: next.illegible.filter((text) => known.includes(text)) }
  }
  return picture
}

async function takenOf(page: Page): Promise<Picture> {
  const before = await page.evaluate(textInSight)
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  const after = new Set((await page.evaluate(textInSight)).map((box) => JSON.stringify(box)))
  const boxes = before.filter((box) => after.has(JSON.stringify(box)))
  const painter = await painterOf(page)
  const contrasts = await painter.evaluate(contrastsIn, { png: png.toString('base64'), boxes })
  const illegible = boxes.flatMap(({ text }, index) => ((contrasts[index] ?? 0) < CONTRAST ? [text] : []))
  return { png, texts: boxes.map(({ text }) => text), illegible }
}

const painters = new WeakMap<Browser, Promise<Page>>()

/** An empty page in a window of its own: one in the window of another would put that into the background. */
async function painterOf(page: Page): Promise<Page> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('there is no browser')
  const known = await painters.get(browser)
  if (known?.isClosed() === false) return known
  const painter = browser.newContext().then((own) => own.newPage())
  painters.set(browser, painter)
  return painter
}

/** Runs in the page: every piece of text that nothing covers, with the part of its box that is in the window. */
function textInSight(): Box[] {
  const boxes: Box[] = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const text = node.textContent?.trim() ?? ''
    const owner = node.parentElement
    if (text === '' || owner === null || !owner.checkVisibility({ visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    for (const rect of range.getClientRects()) {
      const [x, y] = [Math.max(0, Math.floor(rect.left)), Math.max(0, Math.floor(rect.top))]
      const [width, height] = [Math.min(innerWidth, Math.ceil(rect.right)) - x, Math.min(innerHeight, Math.ceil(rect.bottom)) - y]
      if (width < 4 || height < 8) continue
      const top = document.elementFromPoint(x + width / 2, y + height / 2)
      if (top?.contains(owner) === true) boxes.push({ text, x, y, width, height })
    }
  }
  return boxes
}

/** Runs in an empty page: the contrast of every box in a picture (WCAG 2, relative luminance). */
async function contrastsIn({ png, boxes }: { png: string; boxes: readonly Box[] }): Promise<number[]> {
  const bytes = Uint8Array.from(atob(png), (character) => character.codePointAt(0) ?? 0)
  const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/png' }))
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
  const context = canvas.getContext('2d', { willReadFrequently: true })
  if (context === null) throw new Error('this browser cannot paint')
  context.drawImage(bitmap, 0, 0)
  const linear = Float64Array.from({ length: 256 }, (_, value) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4))
  return boxes.map(({ x, y, width, height }) => {
    const { data } = context.getImageData(x, y, width, height)
    let [darkest, brightest] = [1, 0]
    for (let at = 0; at < data.length; at += 4) {
      const part = (weight: number, channel: number) => weight * (linear[data[at + channel] ?? 0] ?? 0)
      const luminance = part(0.2126, 0) + part(0.7152, 1) + part(0.0722, 2)
      darkest = Math.min(darkest, luminance)
      brightest = Math.max(brightest, luminance)
    }
    return (brightest + 0.05) / (darkest + 0.05)
  })
}
