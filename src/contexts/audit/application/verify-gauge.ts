import { Injectable } from '@nestjs/common';
import { Background, BackgroundWork } from '../../../platform/background/background-work.js';
import { lastVerification } from '../metrics.js';
import { LastVerifies } from '../store/last-verify.js';

const EVERY_MS = 15_000;

/** Programs verify the log, and nothing scrapes them: workers say what they recorded. */
@Injectable()
export class VerifyGauge {
  @Background()
  readonly work = new BackgroundWork({
    name: 'gauge of verifications',
    everyMs: EVERY_MS,
    run: () => this.measure(),
  });

  constructor(private readonly verifies: LastVerifies) {}

  private async measure(): Promise<void> {
    const last = await this.verifies.read();
    lastVerification.reset();
    if (last !== null) lastVerification.set({ outcome: last.outcome }, Date.parse(last.at) / 1000);
  }
}
