import { Field } from '../../../platform/dto/field.js';
import { text } from '../../../platform/dto/rules.js';
import { readEmail, readExternalId, type NewProfile } from '../application/profile.js';
import { readPhoneNumber } from '../application/phone-number.js';

/** Body of POST /merchants/v1/users. */
export class NewUser implements NewProfile {
  @Field(text({}, readPhoneNumber), {
    description: 'Plausible E.164: a plus, the country code and the number. Unique within the merchant.',
    examples: ['+15550001111'],
  })
  phone_number!: string;

  @Field(text({}, readEmail), {
    optional: true,
    nullable: true,
    description: 'Trimmed and lower-cased; blank is kept as null.',
    examples: ['ada@example.com'],
  })
  email?: string | null;

  @Field(text({}, readExternalId), {
    optional: true,
    nullable: true,
    description: "The merchant's own id: 1 to 255 characters after trimming. Unique within the merchant.",
    examples: ['customer-7'],
  })
  external_id?: string | null;
}

/** Query of GET /merchants/v1/users/by_issuer_wallet_address. */
export class WalletQuery {
  // Any text that is no address is not found.
  @Field(text({ minLength: 1 }, (address) => address), {
    description: 'The issuer wallet address, in either letter case.',
  })
  address!: string;
}
