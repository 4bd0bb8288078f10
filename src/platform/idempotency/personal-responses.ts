import { Injectable } from '@nestjs/common';
import { DAY_MS } from '../../kernel/clock.js';
import type { StoredResponse } from '../event-store/port.js';
import { SealError, Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './response-seal.js';
import { ResponseStore } from './response-store.js';

/** Clocks of the response and of its subject may differ by as much. */
const MARGIN_MS = DAY_MS;
const IDS = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g;

/** Which responses are dropped. */
interface Naming {
  readonly named: readonly string[];
  readonly scope: string;
  /** When the first of the named records was created, ISO 8601. */
  readonly since: string;
}

/** Stored responses that name a person: they are sealed, as secrets are, and found by opening them. */
@Injectable()
export class PersonalResponses {
  private readonly seal: ResponseSeal;

  constructor(
    private readonly responses: ResponseStore,
    sealer: Sealer,
  ) {
    this.seal = new ResponseSeal(sealer);
  }

  /**
   * Deletes the sealed responses of the scope since then that hold one of these ids. A repeat under their keys runs
   * again. False when it was stopped before the end.
   */
  async drop({ named: ids, scope, since }: Naming, signal?: AbortSignal): Promise<boolean> {
    const known = new Set(ids);
    for await (const page of this.responses.sealed(scope, new Date(Date.parse(since) - MARGIN_MS))) {
      const named = page.filter((response) =>
        this.readBody(response)
          ?.match(IDS)
          ?.some((id) => known.has(id)),
      );
      await this.responses.delete(named);
      if (signal?.aborted) return false;
    }
    return true;
  }

  /** Returns null for a response that does not open. */
  private readBody(response: StoredResponse): string | null {
    try {
      return this.seal.open(response).body;
    } catch (error) {
      if (error instanceof SealError) return null;
      throw error;
    }
  }
}
