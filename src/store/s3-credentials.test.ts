import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { Key } from "./key.js";
import { s3Store } from "./s3.js";
import { type Environment, parseIni, surroundings } from "./s3-credentials.js";

describe("credentials", () => {
  const folder = mkdtempSync(join(tmpdir(), "octavo-aws-"));
  afterEach(() => void vi.unstubAllEnvs());
  afterAll(() => rmSync(folder, { recursive: true }));
  const [AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE] = [join(folder, "credentials"), join(folder, "config")];
  writeFileSync(
    AWS_SHARED_CREDENTIALS_FILE,
    "# keys\n[default]\naws_access_key_id = D\naws_secret_access_key=d ; mine\n\n[lab]\r\naws_access_key_id=L\r\naws_secret_access_key = l=/+=\r\naws_session_token=t\n",
  );
  writeFileSync(
    AWS_CONFIG_FILE,
    '[default]\nregion = us-west-2\n[profile lab]\nregion=eu-west-3\nendpoint_url = http://lab:1\ns3 =\n  region = nested\n[profile "with sso"]\nsso_session = x\n',
  );
  const files = { AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE };
  const nothing = { AWS_SHARED_CREDENTIALS_FILE: join(folder, "no"), AWS_CONFIG_FILE: join(folder, "no") };
  const keys = { AWS_ACCESS_KEY_ID: "E", AWS_SECRET_ACCESS_KEY: "e" };

  const identity = (env: Environment, profile?: string) => surroundings(profile, env).identity();

  it("come from the environment, then the profile, then nowhere", () => {
    expect(identity({ ...files, ...keys, AWS_SESSION_TOKEN: "s" }).credentials).toEqual({
      accessKeyId: "E",
      secretAccessKey: "e",
      sessionToken: "s",
    });
    expect(identity(files).credentials).toEqual({ accessKeyId: "D", secretAccessKey: "d" });
    expect(surroundings(undefined, files).region).toBe("us-west-2");
    expect(identity(nothing)).toMatchObject({ credentials: undefined, source: expect.stringContaining("unsigned") });
    expect(identity({ ...files, ...keys, AWS_NO_SIGN_REQUEST: "YES" }).credentials).toBeUndefined();
  });
  it("know profiles, regions and endpoints", () => {
    for (const lab of [
      surroundings(undefined, { ...files, AWS_PROFILE: "lab" }),
      surroundings("lab", { ...files, ...keys }),
    ]) {
      expect(lab).toMatchObject({ region: "eu-west-3", endpoint: "http://lab:1" });
      expect(lab.identity().credentials).toEqual({ accessKeyId: "L", secretAccessKey: "l=/+=", sessionToken: "t" });
    }
    const env = { ...nothing, AWS_DEFAULT_REGION: "a", AWS_ENDPOINT_URL: "http://x", AWS_ENDPOINT_URL_S3: "http://y" };
    expect(surroundings(undefined, env)).toMatchObject({ region: "a", endpoint: "http://y" });
    expect(surroundings(undefined, { ...env, AWS_REGION: "b" }).region).toBe("b");
  });
  it("say what is missing", () => {
    expect(() => identity(files, "nobody")).toThrow(/profile "nobody"/);
    expect(() => identity(files, "with sso")).toThrow(/sso_session/);
    expect(() => identity({ ...nothing, AWS_ACCESS_KEY_ID: "E" })).toThrow(/go together/);
    expect(() => surroundings(undefined, { ...files, AWS_CONFIG_FILE: folder })).toThrow(/cannot be read/);
  });
  it("that are nowhere cost no request: the first one goes out unsigned", async () => {
    for (const [name, text] of Object.entries({
      ...nothing,
      AWS_PROFILE: "",
      AWS_ACCESS_KEY_ID: "",
      AWS_SECRET_ACCESS_KEY: "",
    }))
      vi.stubEnv(name, text);
    const requests: [string, unknown][] = [];
    const store = s3Store({
      bucket: "data",
      endpoint: "http://s3.test",
      fetch: async (url, init) => {
        requests.push([url, { ...init?.headers }]);
        return new Response("x");
      },
    });
    await store.get(Key.of("v"));
    expect(requests).toEqual([["http://s3.test/data/v", {}]]);
  });
  it("treat names as data", () => {
    expect(parseIni("[__proto__]\nconstructor=x\n").get("__proto__")?.get("constructor")).toBe("x");
    expect(parseIni("stray = 1\n=\n[").size).toBe(0);
  });
});
