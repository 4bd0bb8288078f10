import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, timestamp, type Clock } from '../../../kernel/clock.js';
import { CommandLoop } from '../../../platform/event-store/command-loop.js';
import { portalSession, portalSessionStatus, type PortalSession } from '../domain/portal-session.js';
import { PortalLinks } from './portal-links.js';

/** Sessions of the portal, read from their streams: one that is revoked ends at once. */
@Injectable()
export class ActivePortalSessions {
  constructor(
    private readonly loop: CommandLoop,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly links: PortalLinks,
  ) {}

  /** The session of a token, while it is active; null otherwise. */
  async find(token: string): Promise<PortalSession | null> {
    const { state } = await this.loop.load(portalSession, this.links.idIn(token));
    const isOwn = state !== null && state.tokenHash === this.links.hashOf('token', token);
    return isOwn && portalSessionStatus(state, timestamp(this.clock)) === 'active' ? state : null;
  }
}
