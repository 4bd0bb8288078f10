import { Injectable } from '@nestjs/common';
import type { Claim } from '../../../platform/event-store/command-loop.js';
import type { UserDeactivated } from '../domain/user-events.js';
import { KeyedHash } from '../../../platform/sealing/keyed-hash.js';

/**
 * What is unique among a merchant's users. Keyed hashes: a claim is the name of a stream, and personal values are in no
 * name.
 */
@Injectable()
export class UserClaims {
  constructor(private readonly keyedHash: KeyedHash) {}

  /** `phoneNumber` in E.164. Free again once its user is deactivated: carriers give numbers to other people. */
  phoneNumber(merchantId: string, phoneNumber: string): Claim {
    return {
      category: 'user_phone_number',
      key: this.keyedHash.of('user phone number', merchantId, phoneNumber),
      field: 'phone_number',
      message: 'is taken by another user',
      freedBy: 'user.deactivated.v1' satisfies UserDeactivated['type'],
    };
  }

  /** One person's for ever: it joins the journey of events, and two people must not share one. */
  externalId(merchantId: string, externalId: string): Claim {
    return {
      category: 'user_external_id',
      key: this.keyedHash.of('user external id', merchantId, externalId),
      field: 'external_id',
      message: 'is taken by another user',
    };
  }
}
