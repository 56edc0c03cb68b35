/**
 * Every text that a user reads, by area. Read an area as `messages.flags`, without destructuring:
 * then each page loads only the texts that it shows.
 */
export * as messages from './en/texts.ts'
