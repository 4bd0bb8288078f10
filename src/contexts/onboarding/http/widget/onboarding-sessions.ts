import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../../../kernel/clock.js';
import { PageSessions } from '../../../../platform/http/pages/visitors.js';
import { KeyedHash } from '../../../../platform/sealing/keyed-hash.js';

const VALID_MS = 3_600_000;

/** Sessions of users who entered the code from their phone: the page's address is not secret. An hour, for that user id. */
@Injectable()
export class OnboardingSessions extends PageSessions<string> {
  constructor(@Inject(CLOCK) clock: Clock, keyedHash: KeyedHash) {
    super('onboarding session', VALID_MS, clock, keyedHash);
  }
}
