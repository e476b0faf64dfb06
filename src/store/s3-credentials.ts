/**
 * Who signs, where and for which region, when the caller does not say: the environment, then the profile in the files of
 * the AWS command line, then nobody. No metadata service is asked: on a machine without one that takes seconds.
 *
 * | what        | from, in this order                                                                                |
 * |-------------|----------------------------------------------------------------------------------------------------|
 * | credentials | AWS_NO_SIGN_REQUEST · AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN · profile · none |
 * | region      | AWS_REGION · AWS_DEFAULT_REGION · profile                                                          |
 * | endpoint    | AWS_ENDPOINT_URL_S3 · AWS_ENDPOINT_URL · profile                                                   |
 *
 * The profile is AWS_PROFILE, else "default"; a profile asked for by name goes before the keys of the environment.
 */
import { InvalidInput, Unsupported } from "../errors.js";
import { builtin } from "../platform.js";
import type { Credentials } from "./sigv4.js";

export interface Identity {
  readonly credentials: Credentials | undefined;
  /** Where the credentials come from, or why there are none; part of the sentence about a refusal. */
  readonly source: string;
}

export interface Surroundings {
  readonly region: string | undefined;
  readonly endpoint: string | undefined;
  /** Who signs; throws where a profile was asked for that has no keys, which only matters to those who need them. */
  identity(): Identity;
}

export type Environment = { readonly [name: string]: string | undefined };
type Sections = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** Ways to credentials that need a program or a service of AWS. */
const ELSEWHERE = ["sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file"];

export function surroundings(wantedProfile?: string, env: Environment = environment()): Surroundings {
  const name = wantedProfile ?? (env.AWS_PROFILE || undefined);
  const profile = readProfile(name ?? "default", env);
  return {
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || profile.get("region"),
    endpoint: env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || profile.get("endpoint_url"),
    identity: () => (wantedProfile === undefined ? fromEnvironment(env) : undefined) ?? fromProfile(name, profile),
  };
}

function fromEnvironment(env: Environment): Identity | undefined {
  if (/^(1|true|yes|on)$/i.test(env.AWS_NO_SIGN_REQUEST ?? ""))
    return { credentials: undefined, source: "unsigned, as AWS_NO_SIGN_REQUEST says" };
  const [id, secret] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  if (id && secret)
    return { credentials: credentials(id, secret, env.AWS_SESSION_TOKEN), source: "signed with AWS_ACCESS_KEY_ID" };
  if (!id && !secret) return undefined;
  throw new InvalidInput("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together, found only one of them");
}

function fromProfile(name: string | undefined, profile: ReadonlyMap<string, string>): Identity {
  const shown = `the AWS profile "${name ?? "default"}"`;
  if (name !== undefined && profile.size === 0)
    throw new InvalidInput(`${shown} is in none of the AWS files of this user`, { where: name });
  const [id, secret] = [profile.get("aws_access_key_id"), profile.get("aws_secret_access_key")];
  if (id && secret)
    return { credentials: credentials(id, secret, profile.get("aws_session_token")), source: `signed with ${shown}` };
  const elsewhere = ELSEWHERE.find((setting) => profile.has(setting));
  if (elsewhere === undefined) return { credentials: undefined, source: "unsigned, as no credentials were found" };
  const hint = `run: eval "$(aws configure export-credentials --profile ${name ?? "default"} --format env)"`;
  if (name !== undefined)
    throw new Unsupported(`${shown} gets its credentials by ${elsewhere}, which Octavo does not do`, { hint });
  return { credentials: undefined, source: `unsigned, as ${shown} gets its credentials by ${elsewhere}; ${hint}` };
}

const credentials = (accessKeyId: string, secretAccessKey: string, token: string | undefined): Credentials =>
  token ? { accessKeyId, secretAccessKey, sessionToken: token } : { accessKeyId, secretAccessKey };

const environment = (): Environment => (globalThis as { process?: { env?: Environment } }).process?.env ?? {};

function readProfile(name: string, env: Environment): ReadonlyMap<string, string> {
  const config = readSections(env.AWS_CONFIG_FILE, "config");
  const shared = readSections(env.AWS_SHARED_CREDENTIALS_FILE, "credentials");
  const title = name === "default" && config.has("default") ? name : `profile ${name}`;
  return new Map([...(config.get(title) ?? []), ...(shared.get(name) ?? [])]);
}

function readSections(path: string | undefined, file: string): Sections {
  const [fs, os, paths] = [builtin("node:fs"), builtin("node:os"), builtin("node:path")];
  if (fs === undefined || os === undefined || paths === undefined) return new Map(); // a browser has no files
  const full = path || paths.join(os.homedir(), ".aws", file);
  try {
    return parseIni(fs.readFileSync(full, "utf8"));
  } catch (cause) {
    const code = (cause as { code?: string }).code;
    if (code === "ENOENT" || code === "ENOTDIR") return new Map();
    throw new InvalidInput(`the AWS file ${full} cannot be read: ${(cause as Error).message}`, { where: full, cause });
  }
}

/** The INI of the AWS files: `[section]`, `name = value`, comments with # or ;, nested settings indented and passed over. */
export function parseIni(text: string): Sections {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const title = /^\s*\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (title !== undefined) {
      const name = title.replace(/\s+/, " ").replace(/^(profile )"(.*)"$/, "$1$2");
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      continue;
    }
    const setting = /^([A-Za-z0-9_.-]+)\s*=\s*(.*?)(?:\s[#;].*)?\s*$/.exec(line);
    if (setting !== null) section?.set(setting[1]!.toLowerCase(), setting[2]!);
  }
  return sections;
}
