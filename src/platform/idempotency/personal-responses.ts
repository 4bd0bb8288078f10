import { Injectable } from '@nestjs/common';
import type { StoredResponse } from '../event-store/port.js';
import { SealError, Sealer } from '../sealing/sealer.js';
import { ResponseSeal } from './response-seal.js';
import { ResponseStore } from './response-store.js';

/** Clocks of the response and of what it tells of may differ by as much. */
const MARGIN_MS = 86_400_000;

/** Stored responses that name a person: they are kept sealed, with secrets, and are told apart by opening them. */
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
   * Deletes the sealed responses to the merchant that name the user, those since `createdAt`. A repeat under their keys
   * runs again. False when it was stopped before the end.
   */
  async drop(
    person: { readonly userId: string; readonly merchantId: string; readonly createdAt: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    const since = new Date(Date.parse(person.createdAt) - MARGIN_MS);
    for await (const page of this.responses.sealed(person.merchantId, since)) {
      const named = page.filter((response) => this.textOf(response).includes(person.userId));
      await this.responses.delete(named);
      if (signal.aborted) return false;
    }
    return true;
  }

  /** Empty for one that nobody can open. */
  private textOf(response: StoredResponse): string {
    try {
      return this.seal.open(response).body;
    } catch (error) {
      if (error instanceof SealError) return '';
      throw error;
    }
  }
}
