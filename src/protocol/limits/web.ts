import { KiB, MINUTE, MiB, SECOND } from './units.js'

/** Limits of what is fetched, searched, loaded, and read of what was kept. Sizes in bytes, unless a line says otherwise; times in ms. */
export const webLimits = {
  web: {
    /** Of an address, in characters. */
    address: 8192,
    /** Of a page, after decompression. */
    page: 5 * MiB,
    /** Of what is made of it. */
    rendered: 200_000,
    redirects: 5,
    timeout: 30 * SECOND,
    longest: 2 * MINUTE,
    /** How long the reader may work on one page, and the second time, when it takes its text alone. */
    reading: 10 * SECOND,
    readingText: 5 * SECOND,
    /** Readers at once: each is a process. */
    readers: 2,
    /** Memory of a reader, in MB. */
    readerMemory: 384,
    /** Up to here a page is read as an article; above, its text alone. Characters, tags, and tags within tags. */
    article: { characters: 1_000_000, tags: 20_000, depth: 200 },
    title: 300,
  },
  websearch: {
    /** Characters. */
    query: 1000,
    answer: 256 * KiB,
    timeout: 30 * SECOND,
    results: 20,
    /** Of one result, in characters. */
    excerpt: 1000,
  },
  documents: {
    /** A file of the documents. */
    file: 1 * MiB,
    results: 20,
    query: 500,
  },
  skills: {
    /** Workspaces whose skills are remembered. */
    workspaces: 64,
    /** Characters of a name, of a description, and of all lines that list skills. */
    name: 200,
    description: 500,
    overview: 12_000,
    /** Files of a skill that are listed, and entries of its folder that are looked at. */
    files: 50,
    lookedAt: 2000,
  },
  artifactTools: {
    lines: 2000,
    bytes: 51_200,
    /** Of one line, in characters. */
    line: 2000,
    /** Characters of one line that are searched at once. */
    part: 1_000_000,
    found: 50,
    mostFound: 500,
    query: 1000,
    reference: 4096,
    prompt: 32_768,
  },
} as const
