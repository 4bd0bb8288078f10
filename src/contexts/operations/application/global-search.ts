import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { DomainError } from '../../../kernel/domain-error.js';
import { isUuid } from '../../../kernel/ids.js';
import { asciiDigits, tidy } from '../../../kernel/typed-text.js';
import type { Requester } from '../../../platform/operations/operations.js';
import { Searches, type Found, type SearchQuery } from '../../../platform/operations/search.js';
import { withTimeout } from '../../../platform/timeout.js';

const MAX_RESULTS = 20;
const TIMEOUT_MS = 5000;

/** Digits with the usual separators, in the international form. */
const PHONE_NUMBER = /^\+[0-9][0-9 ().-]{5,30}$/;

/** Finds exact matches in all contexts (`GET /admin/v1/search`, admin-api.md 3). */
@Injectable()
export class GlobalSearch implements OnModuleInit {
  private searches: ReturnType<typeof Searches.discover> = [];

  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    this.searches = Searches.discover(this.discovery);
  }

  /**
   * At most 20 results that the caller may read. Throws DomainError: `forbidden` for a phone number without
   * `users_personal:read`, `unavailable` when it takes too long.
   */
  async find(
    { scopes, merchants }: Pick<Requester, 'scopes' | 'merchants'>,
    q: string,
  ): Promise<readonly Found[]> {
    const query = { ...searchText(q), merchants, limit: MAX_RESULTS };
    if (query.phoneNumber !== null && !scopes.has('users_personal:read'))
      throw new DomainError('forbidden', 'The scope users_personal:read is missing');
    const allowed = this.searches.filter(({ value: scope }) => scopes.has(scope));
    const found = await withTimeout(
      TIMEOUT_MS,
      Promise.all(allowed.map((search) => search.call(query))),
      () => {
        throw new DomainError('unavailable', 'The search took too long');
      },
    );
    const isReached = ({ merchant_id: id }: Found): boolean =>
      merchants === null || (id !== null && merchants.includes(id));
    return found.flat().filter(isReached).slice(0, MAX_RESULTS);
  }
}

/** What is searched for: kinds of text that only some contexts know are recognised once. */
export function searchText(q: string): Pick<SearchQuery, 'text' | 'uuid' | 'phoneNumber'> {
  // The plus of a phone number arrives as a blank where it is not escaped.
  const text = tidy(q.replace(/^ (?=[0-9][0-9 ().-]{5,30}$)/, '+'));
  const number = asciiDigits(text);
  return {
    text,
    uuid: isUuid(text) ? text.toLowerCase() : null,
    phoneNumber: PHONE_NUMBER.test(number) ? `+${number.replace(/[^0-9]/g, '')}` : null,
  };
}
