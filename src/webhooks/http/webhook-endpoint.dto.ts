import { Type } from 'class-transformer';
import {
  ArrayMinSize,
  ArrayUnique,
  IsArray,
  IsDefined,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Max,
  Min,
  ValidateBy,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import { EVENT_TYPES } from '../domain/envelope.js';
import type { EndpointStatus } from '../domain/webhook-endpoints.js';

/** Code points a description may have (merchant-api section 8). */
const DESCRIPTION_LIMIT = 255;

/** The longest that a replaced signing secret may sign beside the fresh one: 24 hours. */
export const OVERLAP_LIMIT_SECONDS = 86_400;

/** What no text in PostgreSQL holds: an event with it would stop every read model that stores the text. */
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Null is a value here, unlike with `IsOptional`: only what is absent is not looked at. */
const IfPresent = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

const IsDescription = (): PropertyDecorator =>
  ValidateBy({
    name: 'isDescription',
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' && !UNSTORABLE.test(value) && [...value].length <= DESCRIPTION_LIMIT,
      defaultMessage: () => `must be a string of at most ${DESCRIPTION_LIMIT} characters`,
    },
  });

/** One line of visible characters; whether it is an address that may be used, the guard judges. */
const IsUrlText = (): PropertyDecorator =>
  ValidateBy({
    name: 'isUrlText',
    validator: {
      validate: (value: unknown) => typeof value === 'string' && /^[^\p{Cc}\p{Cs}\s]+$/u.test(value),
      defaultMessage: () => 'must be a valid URL',
    },
  });

class RegistrationFields {
  @IsUrlText()
  @IsString({ message: 'must be a string' })
  url!: string;

  @IsOptional()
  @IsDescription()
  description?: string | null;

  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  event_types?: string[] | null;
}

class ChangeFields {
  @IfPresent()
  @IsUrlText()
  @IsString({ message: 'must be a string' })
  url?: string;

  @IsOptional()
  @IsDescription()
  description?: string | null;

  @IsOptional()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayUnique()
  @IsIn(EVENT_TYPES, { each: true })
  event_types?: string[] | null;

  @IfPresent()
  @IsIn(['enabled', 'disabled'] satisfies EndpointStatus[])
  status?: EndpointStatus;
}

/** Body of POST webhook_endpoints. */
export class RegisterWebhookEndpointBody {
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => RegistrationFields)
  webhook_endpoint!: RegistrationFields;
}

/** Body of PATCH webhook_endpoints/{id}. */
export class UpdateWebhookEndpointBody {
  @IsDefined()
  @IsObject()
  @ValidateNested()
  @Type(() => ChangeFields)
  webhook_endpoint!: ChangeFields;
}

/** Body of POST webhook_endpoints/{id}/rotate_secret; it may be left out. */
export class RotateSecretBody {
  @IfPresent()
  @Max(OVERLAP_LIMIT_SECONDS)
  @Min(0)
  @IsInt({ message: 'must be an integer' })
  overlap_seconds?: number;
}
