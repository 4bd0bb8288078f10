import { Type } from 'class-transformer';
import {
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
  type ValidationArguments,
} from 'class-validator';
import { EVENT_TYPES } from '../domain/envelope.js';
import type { EndpointStatus } from '../domain/webhook-endpoints.js';

/** Code points a description may have (contract.md 12.4). */
const DESCRIPTION_LIMIT = 255;

/** The longest that a replaced signing secret may sign beside the fresh one: 24 hours. */
export const OVERLAP_LIMIT_SECONDS = 86_400;
const OVERLAP_RULE = `must be from 0 to ${OVERLAP_LIMIT_SECONDS}`;

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

/** What is wrong with `event_types`, beginning with the index when it is one element; null when nothing is. */
function eventTypesFault(value: unknown): string | null {
  if (!Array.isArray(value)) return 'must be an array of event types';
  if (value.length === 0) return 'must name at least one event type';
  const unknown = value.findIndex((each) => !EVENT_TYPES.includes(each as (typeof EVENT_TYPES)[number]));
  if (unknown !== -1) return `[${unknown}] must be one of ${EVENT_TYPES.join(', ')}`;
  const repeated = value.findIndex((each, index) => value.indexOf(each) !== index);
  return repeated === -1 ? null : `[${repeated}] must not repeat another one`;
}

const AreEventTypes = (): PropertyDecorator =>
  ValidateBy({
    name: 'areEventTypes',
    validator: {
      validate: (value: unknown) => eventTypesFault(value) === null,
      defaultMessage: (fields?: ValidationArguments) => eventTypesFault(fields?.value) ?? '',
    },
  });

/** Given at all, it is refused: a client that believes to have changed it would verify with the wrong one. */
const IsNotAccepted = (message: string): PropertyDecorator =>
  ValidateBy({ name: 'isNotAccepted', validator: { validate: () => false, defaultMessage: () => message } });

/** Required: null is none, unlike in a change, where it is a value. */
const needed =
  (otherwise: string) =>
  ({ value }: ValidationArguments): string =>
    value === null ? 'is required' : otherwise;

class RegistrationFields {
  @IsUrlText()
  @IsString({ message: needed('must be a string') })
  url!: string;

  @IsOptional()
  @IsDescription()
  description?: string | null;

  @IsOptional()
  @AreEventTypes()
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
  @AreEventTypes()
  event_types?: string[] | null;

  @IfPresent()
  @IsIn(['enabled', 'disabled'] satisfies EndpointStatus[], { message: 'must be one of enabled, disabled' })
  status?: EndpointStatus;

  @IfPresent()
  @IsNotAccepted('cannot be changed here; POST .../rotate_secret replaces it')
  signing_secret?: never;
}

/** Body of POST webhook_endpoints. */
export class RegisterWebhookEndpointBody {
  @IsObject({ message: needed('must be an object') })
  @ValidateNested()
  @Type(() => RegistrationFields)
  webhook_endpoint!: RegistrationFields;
}

/** Body of PATCH webhook_endpoints/{id}. */
export class UpdateWebhookEndpointBody {
  @IsObject({ message: needed('must be an object') })
  @ValidateNested()
  @Type(() => ChangeFields)
  webhook_endpoint!: ChangeFields;
}

/** Body of POST webhook_endpoints/{id}/rotate_secret; it may be left out. */
export class RotateSecretBody {
  @IfPresent()
  @Max(OVERLAP_LIMIT_SECONDS, { message: OVERLAP_RULE })
  @Min(0, { message: OVERLAP_RULE })
  @IsInt({ message: 'must be an integer' })
  overlap_seconds?: number;
}
