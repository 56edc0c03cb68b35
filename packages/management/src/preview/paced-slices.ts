import { type TimeSlice, TimeSliceQueue } from '@ff/server/plane'

/** The number of turns of the event loop for each time slice. */
const TURNS = 8

/**
 * Assigns time slices in some turns of the event loop only. On an idle server, turns are short, so
 * that little time is lost. On a busy server, most of the time remains for other requests.
 */
export class PacedSlices extends TimeSliceQueue {
  override async next(): Promise<TimeSlice> {
    for (let turn = 1; turn < TURNS; turn += 1) await super.next()
    return super.next()
  }
}
