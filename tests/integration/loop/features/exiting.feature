Feature: A session ends when its exit conditions are met
  What is evaluated are the real tests, builds, linters and scans of small projects.

  Scenario: Agent exits when all_tests_pass condition is met
    Given a project with a failing test
    And an agent that is executing until "all_tests_pass"
    When its work makes every test pass
    Then "all_tests_pass" is evaluated as met
    And the agent has left autonomous execution
    And the session is completed

  Scenario: Agent exits when build_succeeds condition is met
    Given a project that cannot be built
    And an agent that is executing until "build_succeeds"
    When its work makes the build succeed
    Then "build_succeeds" is evaluated as met
    And the agent has left autonomous execution

  Scenario: Agent exits when linting_clean condition is met
    Given a project in which the linter finds something
    And an agent that is executing until "linting_clean"
    When its work leaves nothing for the linter to find
    Then "linting_clean" is evaluated as met
    And the agent has left autonomous execution

  Scenario: Agent exits when security_scan_clean condition is met
    Given a project in which the security scan finds something
    And an agent that is executing until "security_scan_clean"
    When its work leaves nothing for the security scan to find
    Then "security_scan_clean" is evaluated as met
    And the agent has left autonomous execution

  Scenario: Agent continues when only some conditions are met
    Given a project with a failing test, which cannot be built
    And an agent that is executing until "all_tests_pass" and "build_succeeds"
    When its work makes every test pass, and the build still fails
    Then the agent goes on with the next iteration
    And "all_tests_pass" is recorded as met
    And "build_succeeds" is recorded as not met

  Scenario: Agent exits when all multiple conditions are met
    Given a project with a failing test and a finding of the linter, which cannot be built
    And an agent that is executing until "all_tests_pass", "build_succeeds" and "linting_clean"
    When its work brings about all of them, one after the other
    Then the agent has left autonomous execution
    And the session is completed with all 3 conditions met
